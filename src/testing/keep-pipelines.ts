/**
 * Dawn compiles equal shaders with equal bindings once while one of their pipelines lives. On `device`
 * all of them live as long as itself.
 */
export function keepPipelines(device: GPUDevice): void {
  const kept = new Set<GPUComputePipeline>();
  const keep = (pipeline: GPUComputePipeline): GPUComputePipeline => {
    kept.add(pipeline);
    return pipeline;
  };
  const compile = device.createComputePipeline.bind(device);
  const compileLater = device.createComputePipelineAsync.bind(device);
  device.createComputePipeline = (descriptor) => keep(compile(descriptor));
  device.createComputePipelineAsync = async (descriptor) => keep(await compileLater(descriptor));
}
