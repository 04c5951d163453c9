internal import CZlib

/// Reads a whole file, unpacked where it is gzip (RFC 1952), as it is where it is not.
enum GzipFile {
    /// Throws with what zlib says when the file cannot be read, is damaged, or ends too early.
    static func read(_ path: String) throws(LoadError) -> [UInt8] {
        guard let file = gzopen(path, "rb") else {
            throw .unreadable("\(path) cannot be opened; check that it is there")
        }
        gzbuffer(file, 1 << 17)
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 18)
        var count: Int32
        repeat {
            count = gzread(file, &chunk, UInt32(chunk.count))
            if count > 0 { bytes += chunk[..<Int(count)] }
        } while count > 0
        var code: Int32 = 0
        let problem = gzerror(file, &code).map { String(cString: $0) } ?? ""
        // Closing tells of a file that ends in the middle, which reading does not.
        let closed = gzclose_r(file)
        guard count == 0, code == Z_OK || code == Z_STREAM_END, closed == Z_OK else {
            throw .unreadable(
                "\(path) is damaged or cut off\(problem.isEmpty ? "" : " (\(problem))"); fetch or make it again")
        }
        return bytes
    }
}
