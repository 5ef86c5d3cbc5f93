mxprof merge several -o all.mxp && mxprof info all.mxp
