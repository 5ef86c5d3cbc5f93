mxprof report 4194304
