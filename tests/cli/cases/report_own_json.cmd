mxprof report --json --tree sample.mxp
