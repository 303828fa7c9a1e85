"""Attach models: which punctemes a constituent sprouts (Li, Wang & Eisner 2019, section 2.1)."""
