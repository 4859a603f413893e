"""What runs leave behind, and how it is written down."""
