mxprof report --tree sample.mxp
