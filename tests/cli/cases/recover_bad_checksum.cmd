mxprof recover bad_checksum.mxp -o out.mxp; mxprof report out.mxp | head -4
