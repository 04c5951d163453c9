internal import Glibc

/// The holes of an open file: places without data, which take no room. Anyone can make a file of holes that is as long as a disk.
package enum FileHoles {
    /// `SEEK_DATA` and `SEEK_HOLE` (lseek(2)), which Glibc does not name.
    private static let (seekData, seekHole): (Int32, Int32) = (3, 4)

    /// The first place at or after `offset` that is in no hole; nil if there is none.
    package static func data(in file: Int32, from offset: Int) -> Int? {
        let found = lseek(file, off_t(offset), seekData)
        // A file system that knows no holes has data everywhere.
        return found >= 0 ? Int(found) : errno == ENXIO ? nil : offset
    }

    /// Whether a large file has data in less than a hundredth of its length. No database or backup is like that, and copying it
    /// would take hours, and room that nothing needs. Leaves the file at its beginning.
    package static func isHollow(_ file: Int32, size: Int) -> Bool {
        guard size > 1 << 30 else { return false }
        defer { lseek(file, 0, SEEK_SET) }
        var (end, data) = (0, 0)
        while data < size / 100 {
            guard let start = self.data(in: file, from: end) else { return true }
            end = Int(lseek(file, off_t(start), seekHole))
            guard end > start else { return false }
            data += end - start
        }
        return false
    }
}
