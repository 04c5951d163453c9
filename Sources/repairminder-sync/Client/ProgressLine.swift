import LocalAPI

/// Shows the progress of long work on standard error, if that is a terminal: one line, overwritten.
struct ProgressLine {
    private static let pause = Duration.milliseconds(100)

    private var text: ProgressText
    private let now: @Sendable () -> Duration
    private let draw: (@Sendable (String) -> Void)?
    private let width: @Sendable () -> Int
    private var start: Duration
    /// What was done already at `start`.
    private var begun = 0
    private var lastShown: Duration?

    /// `draw` nil shows nothing.
    init(
        _ text: ProgressText, now: @escaping @Sendable () -> Duration, width: @escaping @Sendable () -> Int,
        draw: (@Sendable (String) -> Void)?
    ) {
        self.text = text
        self.now = now
        self.width = width
        self.draw = draw
        start = now()
    }

    static func onStandardError(
        _ label: String, unit: ProgressText.Unit = .share, isOn: Bool = true
    ) -> ProgressLine {
        let begun = ContinuousClock.now
        let shows = isOn && StandardStream.error.isTerminal
        let draw: (@Sendable (String) -> Void)? = shows ? { @Sendable text in StandardStream.error.draw(text) } : nil
        return ProgressLine(
            ProgressText(label: label, unit: unit), now: { begun.duration(to: ContinuousClock.now) },
            width: { StandardStream.error.width ?? 80 }, draw: draw)
    }

    var isShown: Bool { draw != nil }

    /// Changes to other work, of which `done` is done already: the rate is only that of what follows.
    mutating func begin(_ other: ProgressText, at done: Int) {
        guard other != text else { return }
        text = other
        (start, begun) = (now(), done)
    }

    /// Draws at most ten times a second.
    mutating func show(_ done: Int, of total: Int?) {
        let time = now()
        guard let draw, lastShown.map({ time - $0 >= Self.pause }) ?? true else { return }
        lastShown = time
        let line = text.line(done: done, total: total, begun: begun, elapsed: time - start)
        draw("\r\u{1B}[K" + TextWidth.cut(line, to: max(width() - 1, 1)))
    }

    /// Clears the line, so that the result stands alone.
    mutating func end() {
        if lastShown != nil { draw?("\r\u{1B}[K") }
        lastShown = nil
    }
}
