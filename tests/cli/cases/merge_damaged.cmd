cp cut_in_chunk.mxp nothing.mxp several && mxprof merge several -o all.mxp; mxprof report --layout mxnet all.mxp | head -6
