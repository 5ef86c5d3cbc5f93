mxprof report --unit us --top 1 sample.mxp
