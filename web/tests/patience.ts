// A machine may be slow: what is looked for is waited for longer than it should ever need.
import { configure } from '@testing-library/react';

configure({ asyncUtilTimeout: 20_000 });
