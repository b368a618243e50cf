export { createWebGpuDevice, type WebGpuDeviceOptions } from './webgpu-device.ts';
