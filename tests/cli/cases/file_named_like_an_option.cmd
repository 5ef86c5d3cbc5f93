cp sample.mxp ./--json; mxprof info -- --json | head -1
