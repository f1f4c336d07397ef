import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

// The page is served from the program itself. While developing, `npm run dev` talks to a yard that runs here.
const yard = process.env.YARD_URL ?? 'http://127.0.0.1:7788';

export default defineConfig({
  base: './', // together with <base href> in index.html: works under any path
  plugins: [react()],
  resolve: { alias: { '@gen': here('./gen'), '@': here('./src') } },
  build: {
    outDir: 'dist',
    target: 'es2022',
    assetsInlineLimit: 0, // the policy allows nothing inline
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: {
    // Host and Origin are judged by the yard: what the browser sends must be the yard's own address.
    proxy: { '/api': { target: yard, changeOrigin: true, ws: true, headers: { origin: yard } } },
  },
  test: {
    environment: 'happy-dom',
    include: ['src/**/*.test.{ts,tsx}', 'tests/**/*.test.ts'],
    restoreMocks: true,
    // Of anything that is waited for; nothing is timed.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    setupFiles: ['tests/patience.ts'],
  },
});
