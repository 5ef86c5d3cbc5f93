mxprof report --layout mxnet cut_in_chunk.mxp
