mxprof report sample.mxp --sort
