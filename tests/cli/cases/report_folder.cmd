mxprof report several
