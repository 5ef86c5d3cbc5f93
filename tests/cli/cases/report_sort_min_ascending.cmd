mxprof report --ascending --sort=min sample.mxp
