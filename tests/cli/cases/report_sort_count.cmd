mxprof report --layout mxnet --sort count sample.mxp
