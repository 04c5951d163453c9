/// Merges what several sources have of one queue.
///
/// Keeps only the merged queue, because each can be large.
struct QueueMerge {
    /// What concerns the file itself, such as whether it could be read completely, is that of the first source.
    private(set) var queue = QueueSnapshot()
    /// How many changes of the older sources may have reached the upstream since.
    private(set) var uncertain = 0
    private var newer: [QueueSnapshot] = []

    /// Call this for the newest source first.
    mutating func add(_ source: QueueSnapshot) {
        if newer.isEmpty {
            queue = source
        } else {
            uncertain += queue.add(source, knownBy: newer)
        }
        newer.append(source.withoutQueue)
    }
}
