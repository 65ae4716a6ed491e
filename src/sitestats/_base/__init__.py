"""What every layer needs: errors, texts, fields, host names, time zones, locks."""
