/// BLAKE2b with a digest of 64 bytes and no key (RFC 7693), which minisign signs instead of the file itself.
enum BLAKE2b {
    private static let blockSize = 128

    static func hash(_ message: [UInt8]) -> [UInt8] {
        var state = initial
        // The parameter block: a digest of 64 bytes, no key, no tree.
        state[0] ^= 0x0101_0040
        // The last block is compressed apart; an empty message has one of zeros.
        let whole = message.isEmpty ? 0 : (message.count - 1) / blockSize
        for index in 0..<whole {
            let start = index * blockSize
            compress(&state, words(message[start..<start + blockSize]), count: start + blockSize, isLast: false)
        }
        compress(&state, words(message[(whole * blockSize)...]), count: message.count, isLast: true)
        return state.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } }
    }

    /// The 16 words of a block, padded with zeros.
    private static func words(_ block: ArraySlice<UInt8>) -> [UInt64] {
        var words = [UInt64](repeating: 0, count: 16)
        for (index, byte) in block.enumerated() { words[index / 8] |= UInt64(byte) << (index % 8 * 8) }
        return words
    }

    private static func compress(_ state: inout [UInt64], _ message: [UInt64], count: Int, isLast: Bool) {
        var work = state + initial
        // A message of 2^64 bytes or more does not exist here, so the upper half of the counter is zero.
        work[12] ^= UInt64(count)
        if isLast { work[14] = ~work[14] }
        for round in 0..<12 {
            let order = permutations[round % 10]
            for (index, place) in places.enumerated() {
                mix(&work, place, message[order[index * 2]], message[order[index * 2 + 1]])
            }
        }
        for index in 0..<8 { state[index] ^= work[index] ^ work[index + 8] }
    }

    /// RFC 7693, 3.1.
    private static func mix(_ work: inout [UInt64], _ place: [Int], _ first: UInt64, _ second: UInt64) {
        let (a, b, c, d) = (place[0], place[1], place[2], place[3])
        work[a] = work[a] &+ work[b] &+ first
        work[d] = rotated(work[d] ^ work[a], by: 32)
        work[c] = work[c] &+ work[d]
        work[b] = rotated(work[b] ^ work[c], by: 24)
        work[a] = work[a] &+ work[b] &+ second
        work[d] = rotated(work[d] ^ work[a], by: 16)
        work[c] = work[c] &+ work[d]
        work[b] = rotated(work[b] ^ work[c], by: 63)
    }

    private static func rotated(_ word: UInt64, by count: UInt64) -> UInt64 { word >> count | word << (64 - count) }

    /// The columns, then the diagonals.
    private static let places = [
        [0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15],
        [0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14],
    ]

    private static let initial: [UInt64] = [
        0x6a09_e667_f3bc_c908, 0xbb67_ae85_84ca_a73b, 0x3c6e_f372_fe94_f82b, 0xa54f_f53a_5f1d_36f1,
        0x510e_527f_ade6_82d1, 0x9b05_688c_2b3e_6c1f, 0x1f83_d9ab_fb41_bd6b, 0x5be0_cd19_137e_2179,
    ]

    /// RFC 7693, 2.7.
    private static let permutations = [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
        [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
        [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
        [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
        [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
        [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
        [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
        [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
        [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
    ]
}
