exports.total = async (output) => output.total;
