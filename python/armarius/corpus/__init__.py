"""Documents as they are ranked: units, paragraphs, texts cut into blocks, and how a store keeps them."""
