"""Results of other eval tools as reports: their marks, under the gate of this one."""
