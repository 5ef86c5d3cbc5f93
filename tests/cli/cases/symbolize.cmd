mxprof symbolize sample.mxp -o named.mxp && mxprof info named.mxp | head -3
