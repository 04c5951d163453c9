import Glibc
import SystemCalls

extension Environment {
    /// Where temporary files go: `$TMPDIR` if it is absolute, else `/tmp`.
    ///
    /// It must not be where another user could put something else in place of what is made there: root, who can have the
    /// variable from that user (`su`, `sudo -E`), would follow a link.
    var temporaryFolder: String {
        guard let folder = variables["TMPDIR"], folder.hasPrefix("/"),
            StateOwner.stranger(on: PathSteps(to: folder).steps, owner: geteuid()) == nil
        else { return "/tmp" }
        return folder
    }

    /// Makes a new directory among them that only this user can enter.
    func makeTemporaryFolder(_ name: String) throws(StateError) -> String {
        let folder = temporaryFolder
        // mkdtemp creates it with mode 0700.
        var template = Array("\(folder)/\(name)XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw StateError(
                message: "cannot create a directory in \(folder) (\(SystemError.last)); set TMPDIR to one that you may "
                    + "write to")
        }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
