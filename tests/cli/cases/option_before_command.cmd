mxprof --json report sample.mxp
