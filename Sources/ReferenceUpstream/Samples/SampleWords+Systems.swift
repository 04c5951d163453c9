/// Words for entities and fields of certain names: a home, a planner, a chat.
extension SampleWords {
    /// Entity → sets of values that belong together; a record gets one set.
    static let sets: [String: [[String: String]]] = [
        "assets": rows(
            ["category", "type", "make", "model", "location"],
            [
                ["HVAC", "Furnace", "Carrier", "59TP6", "Basement"],
                ["HVAC", "Heat pump", "Daikin", "Altherma 3", "Garden"],
                ["Plumbing", "Water heater", "Rheem", "ProTerra 50", "Basement"],
                ["Plumbing", "Sump pump", "Zoeller", "M53", "Basement"],
                ["Electrical", "Breaker panel", "Square D", "QO 200", "Garage"],
                ["Electrical", "Smoke detector", "Kidde", "i12060", "Hall"],
                ["Appliance", "Dishwasher", "Bosch", "SHX78", "Kitchen"],
                ["Appliance", "Washing machine", "Miele", "WXI 860", "Laundry"],
            ]),
        "maintenance_schedules": rows(
            ["title", "description", "frequency", "interval_days"],
            [
                ["Replace filter", "A clogged filter costs energy.", "quarterly", "90"],
                ["Flush tank", "Drain until the water runs clear.", "annually", "365"],
                ["Test alarm", "Press the button and listen.", "monthly", "30"],
                ["Clean drain", "Take out the sieve and rinse it.", "custom", "45"],
            ]),
        "courses": rows(
            ["title", "code"],
            [
                ["Linear Algebra", "MA 110"], ["Organic Chemistry", "CH 220"], ["World History", "HI 101"],
                ["Data Structures", "CS 201"], ["Microeconomics", "EC 150"], ["English Composition", "EN 105"],
            ]),
        "grades": rows(
            ["percent", "letter"],
            [["93.5", "A"], ["87", "B+"], ["71.25", "C"], ["0", "F"], ["null", "Incomplete"]]),
    ]

    /// `entity.field` → texts to choose from.
    static let phrases: [String: [String]] = [
        "properties.nickname": ["Home", "Lake house", "Mum's flat", "The old mill"],
        "maintenance_tasks.title": [
            "Replace the filter", "Flush the tank", "Test the alarm", "Clean the drain", "Check for leaks",
        ],
        "service_records.description": [
            "Yearly service", "Leaking valve replaced", "Fan motor replaced", "Inspected, no faults found",
        ],
        "service_records.warranty_info": ["12 months on parts", "24 months on parts and labour"],
        "service_providers.name": [
            "Brightside Electric", "Hearth & Pipe", "Northwind Heating", "Three Rivers Plumbing", "Well Kept Ltd",
        ],
        "service_providers.specialties": ["heating", "plumbing", "electrical", "appliances", "inspection"],
        "property_reports.title": ["Yearly summary", "For the insurance", "For the sale"],
        "asset_photos.caption": ["Type plate", "From the front", "Damage"],
        "service_photos.caption": ["Before", "After", "Invoice"],
        "tasks.title": [
            "Problem set", "Read two chapters", "Essay draft", "Lab report", "Prepare the talk", "Revise for the exam",
        ],
        "tasks.category": ["Reading", "Writing", "Exercises"],
        "calendar_events.title": ["Lecture", "Seminar", "Office hours", "Midterm", "Study group"],
        "activities.name": ["Flash cards", "Practice questions", "Summary", "Group work"],
        "activities.study_category": ["memorise", "practise", "review"],
        "messages.text": [
            "Are you on your way?", "Five minutes!", "Shall we say seven?", "Here is the address again.", "👍",
            "Could you bring the blue folder, please?", "See you tomorrow.", "Sorry, I fell asleep…",
        ],
    ]

    private static func rows(_ names: [String], _ values: [[String]]) -> [[String: String]] {
        values.map { Dictionary(uniqueKeysWithValues: zip(names, $0)) }
    }
}
