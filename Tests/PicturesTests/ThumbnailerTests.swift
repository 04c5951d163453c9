import Foundation
import Pictures
import Synchronization
import Testing

struct ThumbnailerTests {
    let thumbnailer = Thumbnailer(executable: Self.program.path)

    /// The daemon's program as built, beside the test bundle.
    static var program: URL {
        if let folder = ProcessInfo.processInfo.environment["REPAIRMINDER_BIN"] {
            return URL(filePath: folder).appending(path: "repairminder-sync")
        }
        return URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "repairminder-sync")
    }

    private func thumbnail(_ bytes: [UInt8], size: Int = 64) async throws -> [UInt8] {
        let path = FileManager.default.temporaryDirectory.appending(path: "picture-\(UUID().uuidString)")
        try Data(bytes).write(to: path)
        defer { try? FileManager.default.removeItem(at: path) }
        let file = try FileHandle(forReadingFrom: path)
        defer { try? file.close() }
        return try await thumbnailer.thumbnail(
            of: file.fileDescriptor, named: UUID().uuidString, size: size)
    }

    @Test(arguments: ["jpeg", "png", "gif", "webp"])
    func `scales pictures of every kind`(_ kind: String) async throws {
        let small = try await thumbnail(PictureMaker.make(kind, width: 400, height: 200))
        #expect(PictureMaker.look(at: small) == PictureMaker.Seen(width: 64, height: 32, corners: "gbbr"))
    }

    @Test func `never enlarges a picture`() async throws {
        let small = try await thumbnail(PictureMaker.make("png"), size: 512)
        #expect(PictureMaker.look(at: small)?.width == 80)
    }

    @Test(
        arguments: zip(1...8 as ClosedRange<UInt8>, ["gbbr", "bgrb", "brgb", "rbbg", "grbb", "rgbb", "bbgr", "bbrg"]))
    func `rotates a picture as the camera recorded`(_ orientation: UInt8, _ corners: String) async throws {
        for bigEndian in [true, false] {
            let seen = PictureMaker.look(
                at: try await thumbnail(PictureMaker.oriented(orientation, bigEndian: bigEndian)))
            #expect(seen?.corners == corners)
            #expect(seen?.width == (orientation > 4 ? 32 : 64))
        }
    }

    @Test func `shows a picture with an invalid orientation upright`() async throws {
        #expect(PictureMaker.look(at: try await thumbnail(PictureMaker.oriented(9)))?.corners == "gbbr")
    }

    // MARK: Hostile pictures

    private func expect(_ problem: PictureProblem, of bytes: [UInt8]) async {
        await #expect(throws: Thumbnailer.Failure.problem(problem)) { try await thumbnail(bytes) }
    }

    /// A PNG with this size in its header and an arbitrary body.
    private func claiming(width: UInt32, height: UInt32) -> [UInt8] {
        var bytes = PictureMaker.make("png")
        for (at, number) in [(16, width), (20, height)] {
            for index in 0..<4 { bytes[at + index] = UInt8(truncatingIfNeeded: number >> (24 - 8 * index)) }
        }
        return bytes
    }

    @Test func `rejects huge dimensions before decoding`() async {
        await expect(.tooLarge, of: claiming(width: 60_000, height: 60_000))
        await expect(.tooLarge, of: claiming(width: .max, height: .max))
    }

    @Test func `rejects a picture that decompresses beyond the limit`() async {
        // 36 million pixels of one colour are a few kilobytes; twice as many pixels are refused.
        await expect(.tooLarge, of: PictureMaker.make("png", width: 9000, height: 8000))
    }

    @Test func `scales the largest picture of each kind that it accepts`() async throws {
        // 40 million pixels; 17 million; 22 million.
        for (kind, width, height) in [("jpeg", 8000, 5000), ("progressive", 5000, 3500), ("png", 5500, 4000)] {
            let small = try await thumbnail(PictureMaker.make(kind, width: width, height: height))
            #expect(PictureMaker.look(at: small)?.width == 64, "\(kind)")
        }
    }

    @Test func `rejects a progressive picture whose decoding would take too much memory`() async {
        await expect(.tooLarge, of: PictureMaker.make("progressive", width: 8000, height: 5000))
    }

    @Test(arguments: ["jpeg", "png", "gif", "webp"])
    func `survives pictures truncated anywhere`(_ kind: String) async throws {
        let whole = PictureMaker.make(kind)
        for length in [1, 4, 13, 20, 30, whole.count / 2] {
            // Some decoders accept half a picture; none may hang or crash the caller.
            do { _ = try await thumbnail(Array(whole[..<min(length, whole.count)])) } catch let error
                as Thumbnailer.Failure
            {
                #expect(error == .problem(.unreadable))
            }
        }
    }

    @Test func `survives random bit flips`() async throws {
        let seed = UInt64.random(in: 1 ... .max)
        var generator = Xorshift(state: seed)
        for kind in ["jpeg", "png", "gif", "webp"] {
            for _ in 0..<5 {
                var bytes = PictureMaker.make(kind)
                for _ in 0..<10 {
                    bytes[.random(in: 8..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
                }
                do { _ = try await thumbnail(bytes) } catch let error as Thumbnailer.Failure {
                    guard case .problem = error else {
                        Issue.record("\(error) with seed \(seed)")
                        continue
                    }
                }
            }
        }
        #expect(PictureMaker.look(at: try await thumbnail(PictureMaker.make("png"))) != nil)
    }

    /// A progressive JPEG of 4000 by 4000 pixels; each of its empty scans takes a millisecond or more.
    private func scans(_ count: Int) -> [UInt8] {
        func tail(_ kind: UInt8, _ value: UInt8) -> [UInt8] {
            [0xFF, 0xC4, 0, 20, kind, 1] + [UInt8](repeating: 0, count: 15) + [value]
        }
        var bytes: [UInt8] = [0xFF, 0xD8, 0xFF, 0xDB, 0, 67, 0] + [UInt8](repeating: 1, count: 64)
        bytes += [0xFF, 0xC2, 0, 11, 8, 0x0F, 0xA0, 0x0F, 0xA0, 1, 1, 0x11, 0] + tail(0, 0) + tail(0x10, 0xE0)
        bytes += [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 31_250)
        // No block of the scan has a value: eight times "the next 31,675 blocks are empty".
        let scan: [UInt8] = [
            0xFF, 0xDA, 0, 8, 1, 1, 0, 1, 63, 0,
            0x77, 0x76, 0xEE, 0xED, 0xDD, 0xDB, 0xBB, 0xB7, 0x77, 0x6E, 0xEE, 0xDD, 0xDD, 0xBB, 0xBB,
        ]
        for _ in 1..<count { bytes += scan }
        return bytes + [0xFF, 0xD9]
    }

    @Test func `refuses a JPEG of very many scans`() async throws {
        await expect(.tooLarge, of: scans(101))
        #expect(PictureMaker.look(at: try await thumbnail(scans(2)))?.width == 64)
    }

    private final class Ends: Sendable {
        let order = Mutex<[String]>([])
    }

    @Test func `makes thumbnails for callers in turns`() async throws {
        let slow = Thumbnailer(executable: "/bin/sleep", arguments: [], limit: .milliseconds(50))
        let null = try FileHandle(forReadingFrom: URL(filePath: "/dev/null"))
        let file = null.fileDescriptor
        let ends = Ends()
        let tasks = ["games", "games", "games", "games", "man"].map { caller in
            Task.immediate {
                _ = try? await slow.thumbnail(of: file, named: UUID().uuidString, size: 64, for: caller)
                ends.order.withLock { $0.append(caller) }
            }
        }
        for task in tasks { await task.value }
        withExtendedLifetime(null) {}
        // The first may end before the last has asked.
        #expect(ends.order.withLock { $0.firstIndex(of: "man") ?? 4 } < 4)
    }

    @Test func `rejects bytes that are not a picture`() async {
        await expect(.unreadable, of: Array("<svg onload='x'/>".utf8))
    }

    @Test func `kills a process that takes too long`() async throws {
        let slow = Thumbnailer(executable: "/bin/sleep", arguments: [], limit: .milliseconds(50))
        let null = try FileHandle(forReadingFrom: URL(filePath: "/dev/null"))
        await #expect(throws: Thumbnailer.Failure.problem(.tooLarge)) {
            try await slow.thumbnail(of: null.fileDescriptor, named: "a", size: 64)
        }
    }

    @Test func `does not retry a hopeless picture`() async throws {
        let null = try FileHandle(forReadingFrom: URL(filePath: "/dev/null"))
        await #expect(throws: Thumbnailer.Failure.problem(.unreadable)) {
            try await thumbnailer.thumbnail(of: null.fileDescriptor, named: "a", size: 64)
        }
        // A missing file would be another failure, if it were read.
        await #expect(throws: Thumbnailer.Failure.problem(.unreadable)) {
            try await thumbnailer.thumbnail(of: -1, named: "a", size: 64)
        }
    }
}

private struct Xorshift: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}
