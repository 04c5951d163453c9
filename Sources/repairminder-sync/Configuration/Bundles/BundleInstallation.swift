import Glibc
import SystemCalls

/// How the bundle of a configuration is read.
struct BundleReading: Sendable, Equatable {
    /// What counts instead of the file in place; nil for that.
    var candidate: Bundle.Files?
    /// Whether the bundle before counts if the one in place cannot be used.
    var acceptsFormer = true
}

/// Puts a checked bundle in place and keeps the one before.
struct BundleInstallation {
    let place: Bundle.Place

    static let formerEnding = ".previous"

    /// Puts the bundle in place. Throws when a newer one is in effect, unless `allowsOlder`, or another one with the same
    /// number.
    ///
    /// Another installation at the same time is waited for: of two, the older one could be the last, or mix its files with
    /// the other's.
    func install(_ bundle: Bundle, allowsOlder: Bool) throws(BundleError) {
        let lock = try lock()
        defer { close(lock) }
        try require(bundle, allowsOlder: allowsOlder)
        try put(bundle)
    }

    /// A file that other users cannot open, and so not lock either.
    private func lock() throws(BundleError) -> Int32 {
        let path = place.file + ".lock"
        let file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0, flock(file, LOCK_EX) == 0 else {
            throw BundleError("cannot write \(path): \(SystemError.last)")
        }
        return file
    }

    private func require(_ bundle: Bundle, allowsOlder: Bool) throws(BundleError) {
        guard let current = inEffect, !allowsOlder else { return }
        guard bundle.serial >= current.serial else {
            throw BundleError(
                "bundle \(bundle.serial) is older than \(current.serial), which is installed; --allow-older installs it"
            )
        }
        guard bundle.serial > current.serial || bundle.contents == current.contents else {
            throw BundleError(
                "bundle \(bundle.serial) is installed with other contents; give each bundle a greater number")
        }
    }

    /// The one in place or, if that was damaged or an installation did not end, the one before.
    private var inEffect: Bundle? {
        var former = place
        former.file += Self.formerEnding
        return [place, former].lazy.compactMap { try? Bundle.read($0, isLenient: true).bundle }.first
    }

    /// A crash at any point leaves the former bundle or the new one in effect: between the last two steps, the file has the
    /// wrong signature, so the copy counts.
    private func put(_ bundle: Bundle) throws(BundleError) {
        if let current = try? Bundle.read(place, isLenient: true).bundle {
            if current.contents == bundle.contents { return }
            try write(Array(current.signature.utf8), to: place.file + Self.formerEnding + ".minisig")
            try write(current.contents, to: place.file + Self.formerEnding)
        }
        try write(Array(bundle.signature.utf8), to: place.file + ".minisig")
        try write(bundle.contents, to: place.file)
    }

    /// Readable by all, because commands of every user read the configuration.
    private func write(_ bytes: [UInt8], to path: String) throws(BundleError) {
        do throws(SystemError) {
            try Files.replace(path, with: bytes, mode: 0o644)
        } catch {
            throw BundleError("cannot write \(path): \(error)")
        }
    }
}
