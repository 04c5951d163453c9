internal import CacheStore
internal import SocketServer

/// A file that the page loads: a style sheet, an icon or an ES module. The build embeds all files of `Files` in the program.
struct PageFile: Sendable {
    /// Its place in `Files`.
    let name: String
    private let bytes: [UInt8]
    private let tag: String

    private init(_ name: String, _ bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
        tag = EntityTag.text(of: bytes)
    }

    /// Its address.
    var path: String { "/page/\(name)" }

    var type: String {
        switch name.split(separator: ".").last {
        case "js": "text/javascript; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        default: "image/svg+xml"
        }
    }

    /// The element of the page's head that loads it.
    var element: HTML {
        switch name.split(separator: ".").last {
        case "css": "<link rel=\"stylesheet\" href=\"\(path)\">\n"
        case "js" where name == "main.js": "<script type=\"module\" src=\"\(path)\"></script>\n"
        case "js": "<link rel=\"modulepreload\" href=\"\(path)\">\n"
        default: "<link rel=\"icon\" type=\"\(type)\" href=\"\(path)\">\n"
        }
    }

    /// The bytes with their tag, so that a browser asks each time and reads a file again only after an update.
    func response(to request: Request) -> Response {
        var response = Response(status: 304)
        if !EntityTag.isKnown(tag, to: request) {
            response = Response(status: 200, headers: [("Content-Type", type)], body: bytes)
        }
        response.headers += [("ETag", tag), ("Cache-Control", "private, no-cache")]
        return response
    }
}

extension PageFile {
    /// All files, style sheets first.
    static let all = [
        PageFile("page.css", PackageResources.page_css),
        PageFile("parts.css", PackageResources.parts_css),
        PageFile("icon.svg", PackageResources.icon_svg),
        PageFile("main.js", PackageResources.main_js),
        PageFile("core/api.js", PackageResources.api_js),
        PageFile("core/dom.js", PackageResources.dom_js),
        PageFile("core/format.js", PackageResources.format_js),
        PageFile("core/live.js", PackageResources.live_js),
        PageFile("core/schema.js", PackageResources.schema_js),
        PageFile("parts/activity.js", PackageResources.activity_js),
        PageFile("parts/change-card.js", PackageResources.change_card_js),
        PageFile("parts/chart.js", PackageResources.chart_js),
        PageFile("parts/charts.js", PackageResources.charts_js),
        PageFile("parts/content.js", PackageResources.content_js),
        PageFile("parts/dialog.js", PackageResources.dialog_js),
        PageFile("parts/field-form.js", PackageResources.field_form_js),
        PageFile("parts/field-input.js", PackageResources.field_input_js),
        PageFile("parts/header.js", PackageResources.header_js),
        PageFile("parts/keyboard.js", PackageResources.keyboard_js),
        PageFile("parts/notices.js", PackageResources.notices_js),
        PageFile("parts/progress.js", PackageResources.progress_js),
        PageFile("parts/record-filters.js", PackageResources.record_filters_js),
        PageFile("parts/record-history.js", PackageResources.record_history_js),
        PageFile("parts/record-link.js", PackageResources.record_link_js),
        PageFile("parts/record-table.js", PackageResources.record_table_js),
        PageFile("parts/reference-picker.js", PackageResources.reference_picker_js),
        PageFile("parts/related.js", PackageResources.related_js),
        PageFile("parts/state.js", PackageResources.state_js),
        PageFile("parts/value.js", PackageResources.value_js),
        PageFile("views/conflicts.js", PackageResources.conflicts_js),
        PageFile("views/creation.js", PackageResources.creation_js),
        PageFile("views/drift.js", PackageResources.drift_js),
        PageFile("views/hooks.js", PackageResources.hooks_js),
        PageFile("views/overview.js", PackageResources.overview_js),
        PageFile("views/queue.js", PackageResources.queue_js),
        PageFile("views/record.js", PackageResources.record_js),
        PageFile("views/records.js", PackageResources.records_js),
        PageFile("views/search.js", PackageResources.search_js),
        PageFile("views/session.js", PackageResources.session_js),
        PageFile("views/sign-in.js", PackageResources.sign_in_js),
    ]
}
