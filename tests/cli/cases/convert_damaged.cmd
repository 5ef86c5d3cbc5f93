mxprof convert cut_in_chunk.mxp -o out.json; python3 -m json.tool out.json > /dev/null && echo valid
