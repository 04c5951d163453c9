package import Glibc

extension stat {
    /// Of the file that a path leads to; nil if there is none, or it cannot be looked at: `SystemError.last` says why.
    package init?(of path: String) {
        self.init()
        guard fstatat(AT_FDCWD, path, &self, 0) == 0 else { return nil }
    }

    /// The same, and if the path is a link, of the link itself.
    package init?(ofLink path: String) {
        self.init()
        guard lstat(path, &self) == 0 else { return nil }
    }

    /// Of an open file.
    package init?(of descriptor: Int32) {
        self.init()
        guard fstat(descriptor, &self) == 0 else { return nil }
    }

    package var isFile: Bool { st_mode & S_IFMT == S_IFREG }
    package var isFolder: Bool { st_mode & S_IFMT == S_IFDIR }
    package var isLink: Bool { st_mode & S_IFMT == S_IFLNK }
    package var isSocket: Bool { st_mode & S_IFMT == S_IFSOCK }

    /// Whether every user may change it. The mode of a link says nothing.
    package var isOpenToAll: Bool { st_mode & S_IWOTH != 0 }

    /// Whether a file in this folder can be replaced only by its owner, as in /tmp.
    package var isSticky: Bool { st_mode & S_ISVTX != 0 }
}
