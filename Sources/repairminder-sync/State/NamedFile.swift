import CLinux
import Foundation
import Glibc
import SystemCalls

/// A file that is named on the command line. Root opens it before the command becomes the state directory's owner.
///
/// For root the path may have no links: inside a directory of the owner they could lead anywhere.
struct NamedFile {
    let path: String
    private let descriptor: Int32

    private static let pieceSize = 1 << 20

    /// Creates the file for this user alone; throws `StateError` when it exists.
    init(creating path: String) throws(StateError) {
        self.path = path
        descriptor = Self.open(path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        guard descriptor >= 0 else {
            if errno == EEXIST { throw StateError(message: "\(path) already exists; name another file") }
            throw StateError(
                message: "cannot create \(path) (\(SystemError.last)); check its folder, and name it without links")
        }
    }

    /// Nil when root cannot open the file, or when it has another name elsewhere.
    init?(reading path: String) {
        self.path = path
        descriptor = Self.open(path, O_RDONLY | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        guard let status = Self.fileStatus(of: descriptor), status.st_nlink == 1 else {
            Glibc.close(descriptor)
            return nil
        }
    }

    /// For the state directory's owner, who may name a file by links. Nil when this user cannot open it.
    init?(following path: String) {
        self.path = path
        descriptor = Glibc.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        guard Self.fileStatus(of: descriptor) != nil else {
            Glibc.close(descriptor)
            return nil
        }
    }

    /// Nil for what is not a regular file.
    private static func fileStatus(of descriptor: Int32) -> stat? {
        stat(of: descriptor).flatMap { $0.isFile ? $0 : nil }
    }

    /// The path with the real name of its folder, which users other than root may name by a link.
    static func withoutLinks(_ path: String) -> String {
        let place = path as NSString
        guard let folder = Files.realPath(of: place.deletingLastPathComponent) as NSString? else { return path }
        return folder.appendingPathComponent(place.lastPathComponent)
    }

    /// In bytes; nil if the system does not say it.
    var size: Int? { stat(of: descriptor)?.st_size }

    /// Copies a file into this one and waits for the disk. When it throws, this file is empty.
    ///
    /// The state directory's owner may have put something else at `source`: a pipe would have root wait, and a file of holes, or
    /// one that grows, would fill root's disk.
    func fill(from source: String) throws(StateError) {
        let from = Glibc.open(source, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard from >= 0 else { throw failure("cannot read \(source)") }
        defer { Glibc.close(from) }
        guard let status = Self.fileStatus(of: from) else {
            throw StateError(message: "\(source) is not a file; find out who put it there, then try again")
        }
        guard Self.hasRoom(for: status.st_size, beside: descriptor) else {
            throw StateError(message: "\(path) needs \(status.st_size) bytes, and its disk has less; free some space")
        }
        guard !FileHoles.isHollow(from, size: status.st_size) else { throw Self.hollow(source) }
        guard Self.copy(from, to: descriptor, atMost: status.st_size), fsync(descriptor) == 0 else {
            let error = failure("cannot write \(path)")
            ftruncate(descriptor, 0)
            throw error
        }
    }

    /// Writes these bytes and waits for the disk. When it throws, this file is empty.
    func write(_ bytes: [UInt8]) throws(StateError) {
        guard Files.write(bytes, to: descriptor), fsync(descriptor) == 0 else {
            let error = failure("cannot write \(path)")
            ftruncate(descriptor, 0)
            throw error
        }
    }

    /// The text of this file; nil when it cannot be read, or is not UTF-8. Throws for more than `most` bytes.
    ///
    /// Counts what it reads: a file of holes has a size that no memory has, and another program may go on writing.
    func text(atMost most: Int) throws(StateError) -> String? {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: Self.pieceSize)
        while true {
            let count = read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count == 0 ? String(validating: bytes, as: UTF8.self) : nil }
            guard bytes.count + count <= most else {
                throw StateError(message: "\(path) has more than \(most >> 20) MiB; name another file")
            }
            bytes += piece[..<count]
        }
    }

    /// Copies this file into a new one that only this user can read.
    func copy(to target: String) throws(StateError) {
        let into = Glibc.open(target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard into >= 0 else { throw failure("cannot create \(target)") }
        defer { Glibc.close(into) }
        let size = size ?? 0
        guard Self.hasRoom(for: size, beside: into) else {
            throw StateError(
                message: "a copy of \(path) needs \(size) bytes, and the disk of state_dir has less; free some space")
        }
        guard !FileHoles.isHollow(descriptor, size: size) else { throw Self.hollow(path) }
        // No more than it had room for, if another program goes on writing.
        guard Self.copy(descriptor, to: into, atMost: size) else { throw failure("cannot write \(target)") }
    }

    private static func hollow(_ path: String) -> StateError {
        StateError(
            message: "\(path) has next to nothing in it for its length, so it seems to be no backup; if it is one, "
                + "copy it with `cp --sparse=never`, and name the copy")
    }

    /// Whether the disk of this file has it. True when the system does not say how much there is.
    private static func hasRoom(for size: Int, beside file: Int32) -> Bool {
        var status = statvfs()
        guard fstatvfs(file, &status) == 0 else { return true }
        let (room, isEndless) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return isEndless || UInt64(max(size, 0)) <= room
    }

    private static func copy(_ source: Int32, to target: Int32, atMost limit: Int) -> Bool {
        var piece = [UInt8](repeating: 0, count: pieceSize)
        var left = limit
        while left > 0 {
            let count = read(source, &piece, min(piece.count, left))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count == 0 }
            guard piece[..<count].withUnsafeBytes({ Files.write($0, to: target) }) else { return false }
            left -= count
        }
        return true
    }

    /// No part of the path may be a link. Returns -1, with `errno` set, when it cannot be opened.
    static func open(_ path: String, _ flags: Int32, mode: UInt64 = 0) -> Int32 {
        var how = clinux_open_how(
            flags: UInt64(flags | O_CLOEXEC), mode: mode, resolve: UInt64(CLINUX_RESOLVE_NO_SYMLINKS))
        return Int32(
            clinux_openat2(
                Int(CLINUX_OPENAT2), AT_FDCWD, path, &how, UInt(MemoryLayout<clinux_open_how>.size)))
    }

    private func failure(_ what: String) -> StateError {
        StateError(message: "\(what) (\(SystemError.last)); check the file and the free space, then try again")
    }
}
