import JSONText
import Testing

@testable import repairminder_sync

@Suite struct DashboardTextTests {
    @Test("the dashboard has a row per figure and the change for each comparison")
    func table() throws {
        let answer = try JSONText(
            parsing: #"""
                {"period":"this_month","scope":"company","time_zone":"UTC","from":"x","until":"y",
                "devices":{"current":{"count":12},"comparisons":[
                {"period":"last_month","count":10,"change":2,"change_percent":20.0},
                {"period":"last_month_to_date","count":0,"change":12,"change_percent":0.0}]},
                "revenue":{"current":{"total":129.90},"comparisons":[
                {"period":"last_month","total":259.80,"change":-129.90,"change_percent":-50.0},
                {"period":"last_month_to_date","total":129.90,"change":0.00,"change_percent":0.0}]},
                "new_clients":{"current":{"count":1},"comparisons":[
                {"period":"last_month","count":1,"change":0,"change_percent":0.0},
                {"period":"last_month_to_date","count":1,"change":0,"change_percent":0.0}]}}
                """#)
        #expect(
            DashboardText.table(answer).rendered(.programs).plain == """
                figure\tthis_month\tlast_month\tchange\tlast_month_to_date\tchange
                devices\t12\t10\t+2 (+20.0%)\t0\t+12
                revenue\t129.90\t259.80\t-129.90 (-50.0%)\t129.90\t0.00 (0.0%)
                new clients\t1\t1\t0 (0.0%)\t1\t0 (0.0%)

                """)
    }
}
