mxprof report --layout mxnet --ascending --sort=min sample.mxp
