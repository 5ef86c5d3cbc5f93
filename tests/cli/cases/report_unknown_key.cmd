mxprof report --sort average sample.mxp
