"""What is known of a judge, from people's marks and from attacks; pure."""
