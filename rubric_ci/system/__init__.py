"""The operating system: processes, files, signals and concurrency."""
