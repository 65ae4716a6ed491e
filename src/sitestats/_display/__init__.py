"""Draw results: frames, workbooks, HTML, terminal tables, plots."""
