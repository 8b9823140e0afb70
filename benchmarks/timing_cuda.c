/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of engines on the device, and their graphs. */
#include "device.h"

#include "timing.h"

static cudaEvent_t begin_event, end_event;

static bool make_events(void) {
    return begin_event || (cuda_ok(cudaEventCreate(&begin_event), "making an event") &&
                           cuda_ok(cudaEventCreate(&end_event), "making an event"));
}

/* ---- Samples: microseconds a call ------------------------------------------------------------ */

/* Between two events; what is between them, a graph or calls, is enqueued by work. */
static bool sample_events(struct runner *runner, double *us) {
    float ms = 0;
    if (runner->flush && !device_flush(runner->flush)) return false;
    /* Calls start with an idle device, so that none is enqueued before the clock runs. A graph is
       enqueued while the flush is still being done, so that its launch is not part of the time. */
    if (runner->mode == MODE_STREAM && !device_synchronize()) return false;
    if (!cuda_ok(cudaEventRecord(begin_event, device_stream), "recording an event")) return false;
    if (runner->mode == MODE_GRAPH) {
        if (!cuda_ok(cudaGraphLaunch(runner->graph, device_stream), "launching a graph"))
            return false;
    } else if (!timing_calls(runner)) {
        return false;
    }
    if (!cuda_ok(cudaEventRecord(end_event, device_stream), "recording an event")) return false;
    if (!cuda_ok(cudaEventSynchronize(end_event), "waiting for calls")) return false;
    if (!cuda_ok(cudaEventElapsedTime(&ms, begin_event, end_event), "reading events")) return false;
    *us = 1e3 * (double)ms / (double)runner->calls;
    return true;
}

static bool sample_latency(struct runner *runner, double *us) {
    double sum = 0;
    if (runner->flush && !device_flush(runner->flush)) return false;
    if (!device_synchronize()) return false;
    for (int64_t k = 0; k < runner->calls; k++) {
        const double begin = now_us();
        if (!timing_call(runner) || !device_synchronize()) return false;
        sum += now_us() - begin;
    }
    *us = sum / (double)runner->calls;
    return true;
}

/* The queue never fills with so many calls, and the device is idle at first. */
static bool sample_host(struct runner *runner, double *us) {
    if (!device_synchronize()) return false;
    const double begin = now_us();
    if (!timing_calls(runner)) return false;
    *us = (now_us() - begin) / (double)runner->calls;
    return device_synchronize();
}

bool device_sample(struct runner *runner, double *us) {
    if (runner->mode == MODE_LATENCY) return sample_latency(runner, us);
    if (runner->mode == MODE_HOST) return sample_host(runner, us);
    return make_events() && sample_events(runner, us);
}

/* ---- Graphs ---------------------------------------------------------------------------------- */

bool device_capture(struct runner *runner) {
    cudaGraph_t graph = NULL;
    runner->next = 0; /* so that set 0, which is checked, is among those used */
    if (!cuda_ok(cudaStreamBeginCapture(device_stream, cudaStreamCaptureModeThreadLocal),
                 "beginning a capture"))
        return false;
    const bool good = timing_calls(runner);
    if (!cuda_ok(cudaStreamEndCapture(device_stream, &graph), "ending a capture")) return false;
    cudaGraphExec_t ready = NULL;
    const bool instantiated =
        good && cuda_ok(cudaGraphInstantiate(&ready, graph, 0), "instantiating a graph");
    (void)cudaGraphDestroy(graph);
    runner->graph = ready;
    if (!instantiated || !cuda_ok(cudaGraphUpload(ready, device_stream), "uploading it"))
        return false;
    const bool checked = runner->engine->computes && !runner->work->in_place &&
                         runner->work->family < FAMILY_MAP; /* others the device cannot check */
    if (checked && !device_prepare_checked_call(runner->work)) return false;
    if (!cuda_ok(cudaGraphLaunch(runner->graph, device_stream), "launching it") ||
        !device_synchronize())
        return false;
    if (!checked) return true;
    /* the device checks scans and reductions alone */
    return runner->work->family >= FAMILY_MAP ? check_fetched(runner->work, runner->engine)
                                              : device_check(runner->work, runner->engine->name);
}

void device_release(struct runner *runner) {
    if (runner->graph) (void)cudaGraphExecDestroy(runner->graph);
    runner->graph = NULL;
}
