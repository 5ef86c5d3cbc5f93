mxprof report --sort avg sample.mxp
