"""A report as terminal text, markdown, HTML, SARIF, JUnit and annotations."""
