"""Problems of input files to text, one format per module; pure."""
