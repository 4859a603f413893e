"""Suite results as text: the document, the table, JUnit properties."""
