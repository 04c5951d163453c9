import Testing

@testable import repairminder_sync

@Suite("BLAKE2b") struct BLAKE2bTests {
    @Test(
        "the digests are those of RFC 7693 and of other programs",
        arguments: [
            (
                "", 1,
                "786a02f742015903c6c6fd852552d272912f4740e15847618a86e217f71f5419"
                    + "d25e1031afee585313896444934eb04b903a685b1448b755d56f701afe9be2ce"
            ),
            (
                "abc", 1,
                "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
                    + "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923"
            ),
            (
                "\0", 128,
                "865939e120e6805438478841afb739ae4250cf372653078a065cdcfffca4caf7"
                    + "98e6d462b65d658fc165782640eded70963449ae1500fb0f24981d7727e22c41"
            ),
            (
                "\0", 129,
                "a60edba343e7a6933c14d203d2e535f35e6deb6c8a4f8e624c1a6f6e26128604"
                    + "47cb4c37e5aa11bcf03b7c3eea7228eb8b998f922794f2d1b8f2dc63f03bd3fa"
            ),
            (
                "0123456789", 100,
                "0a5bd40e8c85a84c7db328485732c506e51130df78e559c9864c430dd351035f"
                    + "8f89db583ab8188792e48e6efc10d452f5f7978388cba695f4b6feef9d6b399e"
            ),
        ])
    func digests(_ text: String, _ count: Int, _ expected: String) {
        let digest = BLAKE2b.hash(Array(String(repeating: text, count: count).utf8))
        #expect(digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() == expected)
    }
}
