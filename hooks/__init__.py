"""What `action.yml` starts; a package, so that no other of this name is found before it."""
