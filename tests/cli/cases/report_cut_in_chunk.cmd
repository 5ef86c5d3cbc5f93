mxprof report cut_in_chunk.mxp
