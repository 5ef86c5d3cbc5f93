mxprof report --json=yes sample.mxp
