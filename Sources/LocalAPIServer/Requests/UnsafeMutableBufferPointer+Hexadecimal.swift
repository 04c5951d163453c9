extension UnsafeMutableBufferPointer<UInt8> {
    /// Writes the last `count` hexadecimal digits of a number, from `start`.
    func write(hexadecimal number: UInt64, digits count: Int, at start: Int) {
        for position in 0..<count {
            let digit = UInt8(truncatingIfNeeded: number >> UInt64(4 * (count - 1 - position))) & 15
            self[start + position] = digit < 10 ? 0x30 + digit : 0x57 + digit
        }
    }
}
