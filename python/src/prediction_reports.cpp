// SPDX-License-Identifier: Apache-2.0
#include <linnet/prediction_report.h>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind.h"
#include "datasets.h"
#include "docstrings.h"
#include "fields.h"
#include "models.h"
#include "shown.h"
#include "tensors.h"

namespace linnet::python {

template <>
const Options<PredictionReportOptions>& options<PredictionReportOptions>() {
  using O = PredictionReportOptions;
  static const Options<O> all{
      "PredictionReportOptions",
      {option<&O::ignore_index>("ignore_index"), option<&O::probabilities>("probabilities"),
       option<&O::value_names>("value_names"), option<&O::calibration_bins>("calibration_bins"),
       option<&O::residual_bins>("residual_bins"), option<&O::worst>("worst"),
       option<&O::most_classes>("most_classes")}};
  return all;
}

namespace {

/// The numbers of an array as f32, which live as long as the result.
Tensor floats(const ArrayLike& values, const char* what) {
  return tensor_of(values, what).to(DType::f32);
}

void bind_curves(nb::module_& m) {
  Fields<ThresholdCurve> curve(m, "ThresholdCurve");
  curve("thresholds", &ThresholdCurve::thresholds)("true_positives",
                                                   &ThresholdCurve::true_positives)(
      "false_positives", &ThresholdCurve::false_positives)("positives", &ThresholdCurve::positives)(
      "negatives", &ThresholdCurve::negatives);
  // In Python the shares of all points at once.
  const auto shares = [&](const char* name, double (ThresholdCurve::*share)(std::size_t) const) {
    curve.bound().def_prop_ro(
        name,
        [share](const ThresholdCurve& c) {
          std::vector<double> all;
          for (std::size_t i = 0; i < c.thresholds.size(); ++i) all.push_back((c.*share)(i));
          return array_of(Tensor(std::move(all)));
        },
        keep(std::string(docstring(std::string("ThresholdCurve.") + name)) +
             " An array, by point."));
  };
  shares("recall", &ThresholdCurve::recall);
  shares("false_positive_rate", &ThresholdCurve::false_positive_rate);
  shares("precision", &ThresholdCurve::precision);
  shares("share", &ThresholdCurve::share);
  shares("lift", &ThresholdCurve::lift);
  curve.bound()
      .def("roc_area", &ThresholdCurve::roc_area, doc("ThresholdCurve.roc_area"))
      .def("roc_limits", &ThresholdCurve::roc_limits, doc("ThresholdCurve.roc_limits"))
      .def("average_precision", &ThresholdCurve::average_precision,
           doc("ThresholdCurve.average_precision"));
  Fields<ThresholdChoice>(m, "ThresholdChoice")("threshold", &ThresholdChoice::threshold)(
      "cost", &ThresholdChoice::cost)("true_positives", &ThresholdChoice::true_positives)(
      "false_positives", &ThresholdChoice::false_positives)(
      "true_negatives", &ThresholdChoice::true_negatives)("false_negatives",
                                                          &ThresholdChoice::false_negatives);
  m.def(
      "threshold_curve",
      [](const ArrayLike& scores, const ArrayLike& truth) {
        const Tensor s = floats(scores, "scores");
        const Tensor t = floats(truth, "truth");
        return without_gil([&] { return threshold_curve(s.as<float>(), t.as<float>()); });
      },
      nb::arg("scores"), nb::arg("truth"), doc("threshold_curve"));
  m.def(
      "cheapest_threshold",
      [](const ThresholdCurve& curve, double false_positive, double false_negative) {
        return cheapest_threshold(curve, {false_positive, false_negative});
      },
      nb::arg("curve"), nb::kw_only(), nb::arg("false_positive") = 1.0,
      nb::arg("false_negative") = 1.0, doc("cheapest_threshold"));
}

void bind_calibration(nb::module_& m) {
  Fields<CalibrationBin>(m, "CalibrationBin")("low", &CalibrationBin::low)(
      "high", &CalibrationBin::high)("predicted", &CalibrationBin::predicted)(
      "observed", &CalibrationBin::observed)("samples", &CalibrationBin::samples);
  Fields<Calibration>(m, "Calibration")("bins", &Calibration::bins)(
      "expected_error", &Calibration::expected_error)("brier", &Calibration::brier);
  m.def(
      "calibration",
      [](const ArrayLike& probabilities, const ArrayLike& truth, int bins) {
        const Tensor p = floats(probabilities, "probabilities");
        const Tensor t = floats(truth, "truth");
        return without_gil([&] { return calibration(p.as<float>(), t.as<float>(), bins); });
      },
      nb::arg("probabilities"), nb::arg("truth"), nb::arg("bins") = 10, doc("calibration"));
}

}  // namespace

void bind_prediction_reports(nb::module_& m) {
  bind_curves(m);
  bind_calibration(m);
  Fields<WorstPrediction>(m, "WorstPrediction")("sample", &WorstPrediction::sample)(
      "actual", &WorstPrediction::actual)("predicted", &WorstPrediction::predicted);
  Fields<ResidualHistogram>(m, "ResidualHistogram")("least", &ResidualHistogram::least)(
      "most", &ResidualHistogram::most)("counts", &ResidualHistogram::counts);
  Fields<ValueReport>(m, "ValueReport")("name", &ValueReport::name)("r_squared",
                                                                    &ValueReport::r_squared)(
      "mae", &ValueReport::mae)("rmse", &ValueReport::rmse)("residuals", &ValueReport::residuals)(
      "worst", &ValueReport::worst)("actual", &ValueReport::actual)("predicted",
                                                                    &ValueReport::predicted);
  Fields<ClassReport>(m, "ClassReport")("name", &ClassReport::name)("curve", &ClassReport::curve)(
      "calibration", &ClassReport::calibration);
  Fields<PredictionReport> report(m, "PredictionReport");
  report("samples", &PredictionReport::samples)("classes", &PredictionReport::classes)(
      "predicted_class", &PredictionReport::predicted_class)("values", &PredictionReport::values);
  shown(report.bound(), "_repr_html_", "prediction_report_html");
  m.def(
      "predictions_of",
      [](ModelHandle& model, const DataLike& data, std::int64_t batch,
         std::optional<std::int32_t> ignore_index) {
        const Dataset samples = dataset_of(data);
        return array_of(Tensor(
            model.use([&](Model& m) { return predictions_of(m, samples, batch, ignore_index); })));
      },
      nb::arg("model"), nb::arg("data"), nb::arg("batch") = 256,
      nb::arg("ignore_index") = nb::none(), doc("predictions_of"));
  m.def(
      "prediction_report",
      [](const ArrayLike& predictions, const DataLike& data, const nb::kwargs& named) {
        PredictionReportOptions how;
        options<PredictionReportOptions>().read(how, nb::borrow<nb::dict>(named),
                                                "prediction_report");
        const Tensor made = floats(predictions, "predictions");
        const Dataset samples = dataset_of(data);
        return without_gil([&] { return prediction_report(made.as<float>(), samples, how); });
      },
      nb::arg("predictions"), nb::arg("data"), nb::arg("options"),
      nb::sig(signature("prediction_report",
                        "predictions: ArrayLike, data: " + std::string(DataLike::Name.text),
                        options<PredictionReportOptions>().parameters(), "PredictionReport")),
      doc("prediction_report", options<PredictionReportOptions>().arguments()));
}

}  // namespace linnet::python
